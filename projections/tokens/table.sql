create table tokens (
  id bigint primary key,
  user_id bigint not null,
  name text not null,
  status smallint not null default 1,
  expires_at bigint,
  token_group text not null,
  models text[],
  allow_ips text,
  rate_limit jsonb not null,
  tokens_per_minute int not null,
  max_concurrency int not null,
  key_lookup text not null unique,
  key_ref text not null,
  key_hint text not null,
  created_at bigint not null,
  changed_position bigint not null,
  is_deleted boolean not null default false
);

create index tokens_of_user on tokens (user_id, id desc) where not is_deleted;
create index tokens_by_change on tokens (changed_position);
create index tokens_by_name on tokens (name);
