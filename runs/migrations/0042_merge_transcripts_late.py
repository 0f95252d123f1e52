from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from runs import search


def merge_late(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    search.merge_late(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("runs", "0041_chunk_extents")]

    operations = [migrations.RunPython(merge_late, migrations.RunPython.noop)]
