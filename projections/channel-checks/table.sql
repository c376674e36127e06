-- `changed_position` is the position of the last event that changed the row. The columns `run…` are
-- from the last test of all channels that included this channel. `reason` is from the channel's
-- last test, even if only this channel was tested.
create table checks (
  channel_id bigint primary key,
  model text not null default '',
  is_success boolean not null default false,
  reason text not null default '',
  run text not null default '',
  run_model text not null default '',
  run_reason text not null default '',
  run_duration bigint not null default 0,
  response_time bigint not null default 0,
  test_time bigint not null default 0,
  balance numeric not null default 0,
  balance_updated_time bigint not null default 0,
  changed_position bigint not null
);

create index checks_by_change on checks (changed_position);

create table runs (
  run text primary key,
  total bigint not null default 0,
  tested bigint not null default 0,
  failed bigint not null default 0,
  started_time bigint not null default 0,
  ended_time bigint not null default 0,
  started_position bigint not null default 0,
  ended_position bigint not null default 0
);

create index runs_by_start on runs (started_position desc);
