create table tries (
  minute bigint not null,
  channel_id bigint not null,
  model text not null,
  successes bigint not null default 0,
  failures bigint not null default 0,
  output_tokens bigint not null default 0,
  output_ms bigint not null default 0,
  anomalies bigint not null default 0,
  primary key (minute, channel_id, model)
);

create table spread (
  minute bigint not null,
  channel_id bigint not null,
  model text not null,
  what smallint not null,
  bucket smallint not null,
  count bigint not null default 0,
  primary key (minute, channel_id, model, what, bucket)
);

-- These indexes serve queries of one channel over days. With the primary keys alone, the rows of
-- all other channels would be read as well.
create index tries_of_channel on tries (channel_id, minute);
create index spread_of_channel on spread (channel_id, minute);
