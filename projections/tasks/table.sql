create table tasks (
  -- The id of the call that pays for the task. The caller uses it as the task's id.
  id text primary key,
  -- The position of the submission, by which lists are ordered and paged.
  position bigint not null,
  changed_position bigint not null,
  -- The kind of task: `drawing`, `music` or `video`.
  kind text not null,
  user_id bigint not null,
  platform text not null,
  action text not null,
  model text not null,
  task_group text not null,
  hold bigint not null,
  -- The id of the channel, or 0 until a provider has accepted the task.
  channel_id bigint not null default 0,
  upstream_id text not null default '',
  -- The code of the provider's answer, or 0 without an answer.
  code bigint not null default 0,
  status text not null default 'NOT_START',
  -- The cause of the failure, or empty without a failure.
  cause text not null default '',
  -- The times are in Unix milliseconds. `started_at` and `finished_at` are null until the task has
  -- started or ended.
  submitted_at bigint not null,
  started_at bigint,
  finished_at bigint,
  -- The length and the resolution of the requested video, null for other tasks. The resolution
  -- is also null if the vendor has only one.
  video_seconds bigint,
  video_resolution text,
  -- True if the caller deleted the video.
  is_deleted boolean not null default false,
  -- The texts are encrypted with the key of the task's user.
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
