-- A term has a separate column if it can be changed for all channels of a tag. `terms` contains the
-- other terms as they were recorded.
create table channels (
  id bigint primary key,
  terms jsonb not null,
  name text not null,
  tag text not null,
  models jsonb not null,
  groups jsonb not null,
  model_mapping text not null,
  priority bigint not null,
  weight bigint not null,
  expired_at bigint not null,
  key_refs jsonb not null,
  key_mode text not null,
  status smallint not null,
  status_reason text not null default '',
  status_at bigint not null,
  created_at bigint not null,
  changed_position bigint not null,
  is_deleted boolean not null default false
);

create index channels_by_change on channels (changed_position);
create index channels_there on channels (priority desc, id desc) where not is_deleted;
create index channels_by_tag on channels (tag) where not is_deleted;

-- The row of a key remains after the key was removed from its channel. Queries ignore such a row.
create table keys_set_aside (
  channel_id bigint not null,
  key_ref text not null,
  is_set_aside boolean not null,
  reason text not null,
  set_aside_at bigint not null,
  primary key (channel_id, key_ref)
);

create table spent (
  channel_id bigint primary key,
  used_quota bigint not null default 0
);
