create table tasks (
  -- Of the call that pays for it; what its caller knows it by.
  id text primary key,
  -- Where it was submitted: lists are ordered and paged by it.
  position bigint not null,
  changed_position bigint not null,
  -- drawing, music.
  kind text not null,
  user_id bigint not null,
  platform text not null,
  action text not null,
  model text not null,
  task_group text not null,
  hold bigint not null,
  -- 0 while no provider has it.
  channel_id bigint not null default 0,
  upstream_id text not null default '',
  -- As its provider answered; 0: it was not submitted.
  code bigint not null default 0,
  status text not null default 'NOT_START',
  -- Why it failed, where its provider has no words for it.
  cause text not null default '',
  -- Unix milliseconds, null until then.
  submitted_at bigint not null,
  started_at bigint,
  finished_at bigint,
  -- Sealed for its user.
  prompt text,
  description text,
  prompt_en text,
  image_url text,
  result text,
  fail_reason text
);

create index tasks_of_kind on tasks (kind, position desc);
create index tasks_of_user on tasks (user_id, kind, position desc);
create index tasks_of_channel on tasks (channel_id, kind, position desc);
create index tasks_by_time on tasks (kind, submitted_at);
create index tasks_by_upstream on tasks (upstream_id) where upstream_id <> '';
create index tasks_by_change on tasks (changed_position);
