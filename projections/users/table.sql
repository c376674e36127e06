create table users (
  id bigint primary key,
  username text not null,
  display_name text not null,
  role smallint not null,
  status smallint not null default 1,
  user_group text not null,
  password_ref text not null,
  auth_version bigint not null default 0,
  accepts_unpriced boolean not null default false,
  shows_ip boolean not null default false,
  inviter_id bigint,
  created_at bigint not null,
  deleted_at bigint,
  is_erased boolean not null default false
);

create table names (
  name_key text primary key,
  user_id bigint not null
);
