create table options (
  key text primary key,
  value text not null,
  is_secret boolean not null
);

create table site (
  id smallint primary key,
  options_revision bigint not null default -1,
  root_user_id bigint,
  is_self_use boolean not null default false,
  is_demo_site boolean not null default false
);

insert into site (id) values (1);
