create table option_changes (
  id bigint primary key,
  key text not null,
  before text,
  after text not null,
  actor text not null,
  -- The id of the scheduled change that caused this change, or null.
  planned_id bigint,
  at bigint not null
);

create index on option_changes (key, id desc);
