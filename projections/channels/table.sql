create table channels (
  id bigint primary key,
  terms jsonb not null,
  key_ref text not null,
  status smallint not null default 1,
  status_reason text not null default '',
  status_at bigint not null,
  created_at bigint not null,
  changed_position bigint not null,
  is_deleted boolean not null default false
);

create index channels_by_change on channels (changed_position);

create table spent (
  channel_id bigint primary key,
  used_quota bigint not null default 0
);
