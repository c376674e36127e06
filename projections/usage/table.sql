-- `cost` is what providers charged, in quota, for the calls whose provider price is known.
-- `costed_quota` is what users were charged for the same calls. `cache_read_tokens` is the part of
-- `prompt_tokens` that providers read from their caches, and `cache_saved` the quota that this
-- saved.
create table by_model (
  hour bigint not null,
  type smallint not null,
  model text not null,
  count bigint not null default 0,
  quota bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  cost bigint not null default 0,
  costed_quota bigint not null default 0,
  cache_read_tokens bigint not null default 0,
  cache_saved bigint not null default 0,
  primary key (hour, type, model)
);

create table by_user_and_model (
  user_id bigint not null,
  hour bigint not null,
  type smallint not null,
  model text not null,
  count bigint not null default 0,
  quota bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  primary key (user_id, hour, type, model)
);

-- This index serves the list of users with the highest charges. The query reads this table for the
-- hours at both ends of a range, and `charged_by_day` for the complete days between them.
create index by_user_and_model_hour on by_user_and_model (hour);

create table charged_by_day (
  day bigint not null,
  user_id bigint not null,
  count bigint not null default 0,
  quota bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  primary key (day, user_id)
);

-- The usage by hour of a channel or group, such as `channel:3` or `group:vip`. There are no such
-- sums of tokens, because they would be nearly as many rows as calls.
create table by_part (
  part text not null,
  hour bigint not null,
  type smallint not null,
  model text not null,
  call_group text not null,
  channel_id bigint not null,
  count bigint not null default 0,
  quota bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  cost bigint not null default 0,
  costed_quota bigint not null default 0,
  primary key (part, hour, type, model, call_group, channel_id)
);

-- The usage by day of channels and groups, and of users and tokens, such as `user:7` and `token:7`.
-- Queries of long ranges read this table.
create table by_day (
  part text not null,
  day bigint not null,
  type smallint not null,
  model text not null,
  call_group text not null,
  channel_id bigint not null,
  count bigint not null default 0,
  quota bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  cost bigint not null default 0,
  costed_quota bigint not null default 0,
  primary key (part, day, type, model, call_group, channel_id)
);
