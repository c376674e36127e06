create table accounts (
  user_id bigint primary key,
  balance bigint not null default 0,
  held bigint not null default 0,
  used_quota bigint not null default 0,
  request_count bigint not null default 0,
  aff_quota bigint not null default 0,
  aff_history_quota bigint not null default 0,
  aff_count bigint not null default 0,
  check_in_day text not null default ''
);

create table token_budgets (
  token_id bigint primary key,
  user_id bigint not null,
  remain bigint not null default 0,
  held bigint not null default 0,
  is_unlimited boolean not null default false,
  is_closed boolean not null default false,
  used_quota bigint not null default 0,
  accessed_at bigint not null default 0,
  -- The position of the last change by the owner or an admin. Calls do not change this value.
  set_position bigint not null default 0,
  -- The number of changes by the owner or an admin since the budget was opened. Calls are not
  -- counted.
  edits bigint not null default 0
);

create index token_budgets_of_user on token_budgets (user_id);
create index token_budgets_set on token_budgets (set_position);
