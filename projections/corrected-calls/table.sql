-- One row for each call and each correction of its charge.
create table calls (
  call text collate "C" not null,
  position bigint not null,
  revision bigint not null,
  created_at bigint not null,
  user_id bigint not null,
  correction_id text not null,
  charge bigint not null,
  corrected bigint not null,
  unpaid bigint not null,
  model text not null,
  token_id bigint not null,
  -- For events of earlier versions, the channel is 0 and the group is empty.
  channel_id bigint not null,
  call_group text not null,
  balance_after bigint,
  held_after bigint,
  primary key (call, position)
);

-- The total changes that each correction has made so far.
create table sums (
  correction_id text collate "C" primary key,
  calls bigint not null default 0,
  refunded bigint not null default 0,
  charged bigint not null default 0,
  unpaid bigint not null default 0
);

create index calls_by_position on calls (position);
create index calls_by_time on calls (created_at);
