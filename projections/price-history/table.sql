create table changes (
  position bigint not null,
  place integer not null,
  changed_at bigint not null,
  actor text not null,
  -- The id of the scheduled change that caused this change, or null.
  planned_id bigint,
  option_key text not null,
  model text not null,
  group_name text not null,
  user_group text not null,
  before_value text,
  after_value text,
  primary key (position, place)
);

create index changes_of_model on changes (model, position desc, place);
create index changes_of_group on changes (group_name, position desc, place);
