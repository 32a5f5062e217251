"""The state of a task, declared: which fields there are, what their values look like, and who may set them."""

from ledger.schema.document import schema_from
from ledger.schema.model import Entries, Money, StateModel, declared, schema_of
from ledger.schema.schema import FieldSpec, Schema, SectionSpec

__all__ = ["Entries", "FieldSpec", "Money", "Schema", "SectionSpec", "StateModel", "declared", "schema_from", "schema_of"]
