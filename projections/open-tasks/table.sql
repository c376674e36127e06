create table tasks (
  task text primary key,
  user_id bigint not null,
  kind text not null,
  channel_id bigint,
  key_ref text,
  upstream_id text,
  sent_to_channel_id bigint,
  sent_with_key_ref text,
  submitted_at bigint not null
);

create index tasks_by_age on tasks (submitted_at, task);
