create table planned (
  id bigint primary key,
  -- All times are in Unix seconds.
  due_at bigint not null,
  made_at bigint not null,
  actor text not null,
  changes jsonb not null,
  status text not null default 'planned',
  ended_at bigint,
  ended_by text not null default '',
  fault text not null default ''
);

create index planned_by_status on planned (status, due_at);
