"""Whether a name is a language model's: what says that grades may be a machine's."""

import re

# Names that only models have as they stand, and names that people share with models, which are a
# model's where a version or a size follows.
_MODELS = (
    "gpt", "chatgpt", "llama", "llm", "mixtral", "qwen", "deepseek", "umbrela", "davinci",
    "vicuna", "codellama", "starcoder", "autorater", "bot",
)  # fmt: skip
_SHARED = ("claude", "gemma", "gemini", "mistral", "grok", "falcon", "phi", "palm", "nova", "yi")
_VERSIONS = (
    "opus",
    "sonnet",
    "haiku",
    "instant",
    "pro",
    "flash",
    "ultra",
    "large",
    "small",
    "nano",
)
_LOOKS = re.compile(
    rf"(?<![a-z])(?:(?:{'|'.join(_MODELS)})(?![a-z])"
    rf"|(?:{'|'.join(_SHARED)})[-_ .]?v?(?:\d|(?:{'|'.join(_VERSIONS)})(?![a-z]))"
    r"|o[1-9](?:-(?:mini|pro|preview))?$|command-r|flan-t5)",
    re.IGNORECASE,
)


def looks_like_a_model(name: str) -> bool:
    """Whether a name is a model's rather than a person's: a first guess, to be corrected.

    >>> [looks_like_a_model(name) for name in ("RMITIR-GPT4o", "claude-3-opus", "Claude", "W001")]
    [True, True, False, False]
    """
    return bool(_LOOKS.search(name))
