create table batches (
  batch text primary key,
  channel_id bigint,
  key_ref text
);

create index batches_by_channel on batches (channel_id);
