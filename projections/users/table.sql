create table users (
  id bigint primary key,
  username text not null,
  display_name text not null,
  role smallint not null,
  status smallint not null default 1,
  user_group text not null,
  password_ref text,
  auth_version bigint not null default 1,
  must_change_password boolean not null default false,
  accepts_unpriced boolean not null default false,
  shows_ip boolean not null default false,
  inviter_id bigint,
  email text not null default '',
  github_id text not null default '',
  oidc_id text not null default '',
  wechat_id text not null default '',
  telegram_id text not null default '',
  linux_do_id text not null default '',
  created_at bigint not null,
  deleted_at bigint,
  is_erased boolean not null default false,
  changed_position bigint not null default 0
);

create index users_by_change on users (changed_position);

-- A row without a user id is a released username.
create table names (
  name_key text primary key,
  user_id bigint
);

-- A row without a user id is a released identity.
create table identities (
  provider text not null,
  identity_key text not null,
  user_id bigint,
  primary key (provider, identity_key)
);
