-- The calls that the provider answered with another model than was billed, or for which it charged
-- more.
create table calls (
  position bigint not null,
  created_at bigint not null,
  anomaly text not null,
  channel_id bigint not null,
  user_id bigint not null,
  call text not null,
  -- The billed model, the model name that was sent to the provider, and the model name in the
  -- answer, if it has one.
  model text not null,
  sent_model text not null,
  answered_model text,
  primary key (position, created_at)
) partition by range (created_at);

create index calls_by_anomaly on calls (anomaly, position desc);
create index calls_by_channel on calls (channel_id, anomaly, position desc);

create table sums (
  channel_id bigint not null,
  anomaly text not null,
  -- The UTC day as the number of days since 1970.
  day integer not null,
  count bigint not null default 0,
  primary key (channel_id, anomaly, day)
);
