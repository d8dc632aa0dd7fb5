"""Files of any known form, looked at, mapped, and taken in whole or not at all."""
