"""Parts of a benchmark's queries: rules and expressions, words and intents, what may be shown."""
