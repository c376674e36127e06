-- `cost` is what providers ask for, in quota, as far as that is known; `costed_quota` what was charged
-- for the same calls.
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

-- Who was charged most: the hours at both ends of a range, between them whole days.
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

-- `channel:3` or `group:vip`, by hour. By hour a token's rows would be as many as its calls.
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

-- These, `user:7` and `token:7`, by day: for long ranges.
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
