from hypothesis import settings

# A busy machine is slow, not wrong: no test fails by the clock.
settings.register_profile("cqm", deadline=None)
settings.load_profile("cqm")
