create table log (
  id bigint not null,
  created_at bigint not null,
  type smallint not null,
  user_id bigint not null,
  token_id bigint not null default 0,
  channel_id bigint not null default 0,
  model text not null default '',
  call_group text not null default '',
  request_id text not null default '',
  is_stream boolean not null default false,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  quota bigint not null default 0,
  duration_ms bigint not null default 0,
  reason text not null,
  actor_id bigint not null default 0,
  note text,
  client_ip text,
  other text not null default '{}',
  admin_other text not null default '{}',
  -- The channels whose attempts failed. The value is null for nearly all calls, because no attempt
  -- failed, and for all calls of a batch except the first.
  failed_channels bigint[],
  primary key (id, created_at)
) partition by range (created_at);

-- The indexes include the time. A page deep in a range is thus found without reading the rows
-- before the page.
create index log_of_user on log (user_id, id desc) include (created_at);
create index log_of_user_and_model on log (user_id, model, id desc);
create index log_of_model on log (model, id desc) include (created_at);
create index log_of_channel on log (channel_id, id desc) include (created_at);
create index log_of_token on log (token_id, id desc) include (created_at);
create index log_of_group on log (call_group, id desc) include (created_at);
create index log_of_user_and_group on log (user_id, call_group, id desc);
-- Nearly all rows are of type 2 (consumption), so an index on the type would not narrow a search
-- for them.
create index log_of_type on log (type, id desc) where type <> 2;
create index log_of_user_and_type on log (user_id, type, id desc) where type <> 2;
-- The index is in byte order, so that rows can be found by the first characters of an id.
create index log_by_request on log (request_id text_pattern_ops);
create index log_by_time on log using brin (created_at)
  with (pages_per_range = 32, autosummarize = on);

-- One row for each channel on which an attempt of a call failed. A channel's failures can thus be
-- read in the order of their ids. The quota and the token counts are copied from the call, so that
-- sums need no other table.
create table failed_calls (
  channel_id bigint not null,
  id bigint not null,
  created_at bigint not null,
  type smallint not null,
  quota bigint not null default 0,
  prompt_tokens bigint not null default 0,
  completion_tokens bigint not null default 0,
  primary key (channel_id, id) include (created_at)
);

create index failed_calls_by_time on failed_calls (channel_id, created_at);
