create table calls (
  call text primary key,
  user_id bigint not null,
  token_id bigint not null,
  model text not null,
  admitted_at bigint not null,
  lease_until bigint not null
);

create index calls_by_lease on calls (lease_until);
