"""Talk to services: addresses, keys, retries, breakers, rates, time limits, clients of Ollama and OpenAI."""
