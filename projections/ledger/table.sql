-- One row for each event that changed the total (balance and held quota) of an account.
create table movements (
  user_id bigint not null,
  position bigint not null,
  revision bigint not null,
  created_at bigint not null,
  type text collate "C" not null,
  source text not null default '',
  amount bigint not null,
  -- The balance and the held quota after the event. They are null for events of earlier versions,
  -- which lack them.
  balance bigint,
  held bigint,
  actor_id bigint not null default 0,
  reason text not null default '',
  note text,
  model text not null default '',
  token_id bigint not null default 0,
  channel_id bigint not null default 0,
  primary key (user_id, position)
);

create index movements_by_time on movements (user_id, created_at, position);
-- Nearly all movements are charges of calls, so an index on the type would not narrow a search for
-- them.
create index movements_by_type on movements (user_id, type, position) where type <> 'call';
create index movements_by_source on movements (source);

-- The sums of each account by UTC day, from which statements are made.
create table account_days (
  user_id bigint not null,
  day bigint not null,
  type text collate "C" not null,
  model text not null,
  count bigint not null default 0,
  amount bigint not null default 0,
  primary key (user_id, day, type, model)
);

-- The sums of all accounts by UTC month (Unix seconds of its start). A correction has a row for
-- each channel of its calls.
create table site_months (
  month bigint not null,
  type text collate "C" not null,
  reason text not null,
  channel_id bigint not null,
  model text not null,
  count bigint not null default 0,
  amount bigint not null default 0,
  primary key (month, type, reason, channel_id, model)
);
