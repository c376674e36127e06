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
  balance_after bigint,
  held_after bigint,
  primary key (call, position)
);

create index calls_by_position on calls (position);
