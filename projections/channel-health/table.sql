create table circuits (
  channel_id bigint not null,
  scope text not null,
  model text,
  key_ref text,
  state text not null,
  reason text not null default '',
  failures bigint not null default 0,
  round bigint not null default 0,
  until bigint not null default 0,
  opened_at bigint not null default 0,
  changed_at bigint not null,
  changed_position bigint not null,
  primary key (channel_id, scope)
);

create index circuits_open on circuits (channel_id) where state <> 'closed';
