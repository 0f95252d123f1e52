"""`createowner`: an admin's account for server mode, or a new password for one."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError
from django.db import transaction

from inspector.models import Account
from runs.access import Role
from runs.management.foreground import ensure_database


class Command(BaseCommand):
    help = "Makes an admin's account for server mode (TWENTYFOLD_AUTH=required), or gives one a new password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", default="", help="the account's name; without it, it is asked for")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from the first line of standard input"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        by_hand = not options["password_stdin"]
        name = options["name"].strip()
        if not name and by_hand:
            name = input("Name (owner): ").strip() or "owner"
        if not name:
            raise CommandError("--password-stdin needs --name too.", returncode=2)
        ensure_database()
        user = User.objects.filter(username=name).first()
        is_new = user is None
        user = user or User(username=name, is_superuser=True)
        try:
            User._meta.get_field("username").clean(name, user)
            password = self._asked(name, is_new) if by_hand else sys.stdin.readline().rstrip("\r\n")
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages), returncode=2) from error
        user.set_password(password)
        with transaction.atomic():
            user.save()
            if is_new:
                Account.objects.create(user=user, role=Role.ADMIN)
        self.stdout.write(
            f"The account {name!r} was made."
            if is_new
            else f"The account {name!r} has its new password. It is logged out everywhere, and its tokens stay."
        )
        if not settings.AUTH_REQUIRED:
            self.stdout.write("It is asked for once TWENTYFOLD_AUTH=required is set.")

    def _asked(self, name: str, is_new: bool) -> str:
        """A password typed twice, unseen."""
        password = getpass.getpass(f"{'Password' if is_new else 'New password'} for {name}: ")
        if password != getpass.getpass("Once more: "):
            raise CommandError("The two passwords differ. Nothing was changed.", returncode=2)
        return password
