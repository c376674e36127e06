-- One row for each object that an administrative or security act concerns.
create table acts (
  position bigint not null,
  object_kind text collate "C" not null,
  object_id text collate "C" not null,
  created_at bigint not null,
  act text collate "C" not null,
  -- The user or the part of the gateway that caused the event, such as `user:7` or
  -- `system:sweeper`.
  actor text collate "C" not null,
  -- The changed fields. `before` is null if the earlier values are in earlier rows of the object.
  before jsonb,
  after jsonb not null,
  -- The admin's reason, encrypted with the key of the user `note_user`.
  note text,
  note_user bigint not null default 0,
  -- The address of the client, encrypted with the key of the user `client_user`.
  client_ip text,
  client_user bigint not null default 0,
  request_id text,
  primary key (position, object_kind, object_id)
);

create index acts_of_object on acts (object_kind, object_id, position);
create index acts_of_actor on acts (actor, position);
create index acts_of_type on acts (act, position);
create index acts_by_time on acts (created_at, position);
