-- The row of a deleted message remains without its text, so that consoles learn of the deletion.
create table messages (
  id bigint primary key,
  title text not null,
  content text not null,
  format text not null,
  total bigint not null,
  created_at bigint not null,
  edited_at bigint,
  is_deleted boolean not null default false,
  changed_position bigint not null
);

create index messages_by_change on messages (changed_position);
create index messages_shown on messages (id desc) where not is_deleted;

-- The recipients of a message, as ranges of user ids. A message to all users has only a few rows.
create table recipients (
  message_id bigint not null,
  first_id bigint not null,
  last_id bigint not null,
  primary key (message_id, first_id)
);

create index recipients_by_user on recipients using gist (int8range(first_id, last_id, '[]'));

create table reads (
  user_id bigint not null,
  message_id bigint not null,
  read_at bigint not null,
  changed_position bigint not null,
  primary key (user_id, message_id)
);

-- This index serves lists of a message's recipients that are sorted by the time of reading.
create index reads_of_message on reads (message_id, user_id) include (read_at);
create index reads_by_change on reads (changed_position);

create table read_counts (
  message_id bigint primary key,
  readers bigint not null default 0
);
