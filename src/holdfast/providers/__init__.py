"""Language models that may help, each an extra, and the reviewer that asks one.

Nothing here is reached unless a setting names it: a provider, a model, a base URL, and the variable
of the environment that holds the key. A key appears in no error, no log and no ledger.
"""

from __future__ import annotations
