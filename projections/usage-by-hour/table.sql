create table by_model (
  hour bigint not null,
  type smallint not null,
  model text not null,
  count bigint not null default 0,
  quota bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
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
