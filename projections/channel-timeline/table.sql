create table entries (
  channel_id bigint not null,
  position bigint not null,
  at bigint not null,
  kind text not null,
  actor text not null,
  detail jsonb not null,
  primary key (channel_id, position)
);

create index entries_by_time on entries (channel_id, at desc, position desc);
