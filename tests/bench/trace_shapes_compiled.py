"""Shapes of stack traces of the JVM, Go, Rust, .NET and C, from calls.

A shape takes the calls, innermost first, a message and a random source, and returns the text a tool prints for them.
"""

import json
from collections.abc import Sequence
from random import Random

from trace_calls import Call, joined


def java(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what the JVM prints."""
    return joined(f'Exception in thread "main" java.lang.IllegalStateException: {message}', *_jvm(calls))


def _jvm(calls: Sequence[Call], before: str = "\tat ", after: str = "") -> list[str]:
    return [f"{before}{it.owner}.{it.name}({it.file}:{it.line}){after}" for it in calls]


def java_caused(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return an exception with its cause, which is printed last."""
    return joined(
        "java.lang.RuntimeException: request failed",
        *_jvm(calls[-2:]),
        "\tat java.base/java.lang.Thread.run(Thread.java:833)",
        f"Caused by: java.io.IOException: {message}",
        *_jvm(calls),
        "\t... 12 more",
    )


def java_suppressed(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return an exception with another one that was suppressed."""
    return joined(
        java(calls, message, random),
        "\tSuppressed: java.lang.Exception: closing",
        *_jvm(calls[-2:], "\t\tat "),
        "\t\t... 4 more",
    )


def java_logback(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a trace with the archives of classes, and modules."""
    return joined(
        f"java.lang.IllegalArgumentException: {message}",
        *_jvm(calls, "\tat app//", " ~[app-1.2.jar:1.2]"),
        "\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)",
        "\tat jdk.internal.reflect.GeneratedMethodAccessor12.invoke(Unknown Source)",
    )


def android(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a trace in the log of a telephone."""
    before = "03-01 12:00:01.123  4711  4711 E AndroidRuntime: "
    return joined(
        f"{before}FATAL EXCEPTION: main",
        f"{before}java.lang.NullPointerException: {message}",
        *_jvm(calls, f"{before}\tat "),
    )


def go(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a panic."""
    frames = [
        f"{it.owner}.{it.name}(0xc000{random.randrange(1 << 20):06x}, 0x1)\n\t{it.path}:{it.line} +0x1d" for it in calls
    ]
    return joined(f"panic: {message}", "", "goroutine 1 [running]:", *frames, "exit status 2")


def go_signal(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a panic that was a signal, with other goroutines."""
    inner = joined("panic({0x1029a3c40?, 0x1400001a0c8?})", "\t/usr/local/go/src/runtime/panic.go:914 +0x218")
    frames = [f"{it.owner}.{it.name}(...)\n\t{it.path}:{it.line}" for it in calls]
    other = calls[-1]
    return joined(
        f"panic: runtime error: {message}",
        "[signal SIGSEGV: segmentation violation code=0x2 addr=0x0 pc=0x102]",
        "",
        "goroutine 34 [running]:",
        inner,
        *frames,
        f"created by {other.owner}.{other.name} in goroutine 1",
        "\t/usr/local/go/src/net/http/server.go:3086 +0x4cc",
        "",
        "goroutine 18 [chan receive]:",
        f"{other.owner}.{other.name}()",
        f"\t{other.path}:{other.line} +0x1d",
    )


def go_recovered(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what a recovering middleware logs."""
    frames = [f"{it.path}:{it.line} (0x{random.randrange(1 << 24):x})\n\t{it.name}: {it.code.strip()}" for it in calls]
    return joined(f"2024/03/01 - 12:00:01 [Recovery] panic recovered:\n{message}", *frames)


def go_errors(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return an error with its stack, as pkg/errors formats it."""
    return joined(
        message,
        *(f"{it.owner}.{it.name}\n\t{it.path}:{it.line}" for it in calls),
        "runtime.goexit",
        "\t/usr/local/go/src/runtime/asm_amd64.s:1650",
    )


def go_zap(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a structured log with an escaped stack."""
    return json.dumps(
        {
            "level": "error",
            "msg": message,
            "stacktrace": "\n".join(f"{it.owner}.{it.name}\n\t{it.path}:{it.line}" for it in calls),
        }
    )


def rust(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a panic with its backtrace."""
    own = next((it for it in calls if "rustc" not in it.path), calls[0])
    frames = [
        f"  {n:2}: {it.owner}::{it.name}\n             at {it.path}:{it.line}:{random.randint(5, 30)}"
        for n, it in enumerate(calls)
    ]
    return joined(
        f"thread 'main' panicked at {own.path}:{own.line}:9:",
        message,
        "stack backtrace:",
        *frames,
        "note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.",
    )


def rust_full(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a full backtrace, with addresses and hashes."""
    frames = [
        f"  {n:2}:     0x5581f{random.randrange(1 << 20):05x} - {it.owner}::{it.name}"
        f"::h{random.randrange(1 << 60):016x}\n                               at {it.path}:{it.line}:13"
        for n, it in enumerate(calls)
    ]
    return joined("stack backtrace:", *frames)


def rust_anyhow(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return an error with causes and a backtrace."""
    frames = [f"  {n:2}: {it.owner}::{it.name}\n             at {it.path}:{it.line}:9" for n, it in enumerate(calls)]
    return joined(
        "Error: failed to start",
        "",
        "Caused by:",
        f"    0: {message}",
        "    1: No such file or directory (os error 2)",
        "",
        "Stack backtrace:",
        *frames,
    )


def rust_eyre(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a report of color-eyre."""
    frames = [
        f"  {n:2}: {it.owner}::{it.name}::h{random.randrange(1 << 60):016x}\n      at {it.path}:{it.line}"
        for n, it in enumerate(calls, 7)
    ]
    rule = "━" * 30 + " BACKTRACE " + "━" * 30
    return joined(
        "Error:",
        f"   0: {message}",
        "",
        rule,
        "                                ⋮ 6 frames hidden ⋮",
        *frames,
        "                                ⋮ 10 frames hidden ⋮",
    )


def dotnet(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what .NET prints."""
    return joined(f"Unhandled exception. System.InvalidOperationException: {message}", *_dotnet(calls))


def _dotnet(calls: Sequence[Call]) -> list[str]:
    return [f"   at {it.owner}.{it.name}(Byte[] data, Int32 at) in {it.path}:line {it.line}" for it in calls]


def dotnet_inner(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return an exception with an inner one, whose frames are printed first."""
    return joined(
        f"System.AggregateException: One or more errors occurred. ---> System.FormatException: {message}",
        *_dotnet(calls),
        "   --- End of inner exception stack trace ---",
        *_dotnet(calls[-2:]),
    )


def dotnet_async(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a trace of asynchronous methods, some without their files."""
    frames = [f"   at {it.owner}.<{it.name}>d__12.MoveNext() in {it.path}:line {it.line}" for it in calls]
    frames.insert(1, "--- End of stack trace from previous location ---")
    frames.insert(2, "   at System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)")
    return joined(f"System.Text.Json.JsonException: {message}", *frames)


def gdb(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a backtrace of gdb."""
    frames = [
        f"#{n}  0x00007ffff7c{random.randrange(1 << 16):04x} in {it.name} (data=0x0, n=3) at {it.path}:{it.line}"
        for n, it in enumerate(calls)
    ]
    return joined("Program received signal SIGSEGV, Segmentation fault.", *frames)


def asan(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a report of a sanitizer."""
    frames = [
        f"    #{n} 0x55d{random.randrange(1 << 24):06x} in {it.name} {it.path}:{it.line}:{random.randint(3, 20)}"
        for n, it in enumerate(calls)
    ]
    other = [
        f"    #{n} 0x55d{random.randrange(1 << 24):06x} in {it.name} {it.path}:{it.line}:5"
        for n, it in enumerate(calls[-2:], 1)
    ]
    return joined(
        "==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000014",
        "READ of size 4 at 0x602000000014 thread T0",
        *frames,
        "",
        "freed by thread T0 here:",
        "    #0 0x7f in free ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:52",
        *other,
        f"SUMMARY: AddressSanitizer: heap-use-after-free {calls[0].path}:{calls[0].line}:3 in {calls[0].name}",
    )


def lldb(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a backtrace of lldb, which prints names of files only."""
    frames = [
        f"    {'*' if not n else ' '} frame #{n}: 0x0000000100003f{n:02x} app`{it.name}(data=0x0) "
        f"at {it.file}:{it.line}:{random.randint(3, 20)}"
        for n, it in enumerate(calls)
    ]
    return joined(
        "* thread #1, queue = 'com.apple.main-thread', stop reason = EXC_BAD_ACCESS (code=1, address=0x0)", *frames
    )


def valgrind(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a report of valgrind, which prints names of files only."""
    frames = [
        f"==4711==    {'at' if not n else 'by'} 0x4{random.randrange(1 << 20):05X}: {it.name} ({it.file}:{it.line})"
        for n, it in enumerate(calls)
    ]
    return joined(
        "==4711== Invalid read of size 4",
        *frames,
        "==4711==  Address 0x0 is not stack'd, malloc'd or (recently) free'd",
    )


def addr2line(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a backtrace with addresses resolved."""
    return joined(
        f"*** Error: {message} ***",
        *(f"[0x55d{random.randrange(1 << 20):05x}] {it.name} at {it.path}:{it.line}" for it in calls),
        "/lib/x86_64-linux-gnu/libc.so.6(__libc_start_main+0xf3)[0x7f1]",
    )
