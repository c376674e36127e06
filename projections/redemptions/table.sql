create table redemptions (
  id bigint primary key,
  key_lookup text not null,
  key_ref text not null,
  key_hint text not null,
  name text not null,
  quota bigint not null,
  is_gift boolean not null,
  max_uses bigint,
  valid_from bigint,
  valid_until bigint,
  is_disabled boolean not null default false,
  used_count bigint not null default 0,
  used_user_id bigint not null default 0,
  redeemed_at bigint not null default 0,
  created_at bigint not null,
  created_by bigint not null,
  changed_position bigint not null,
  is_deleted boolean not null default false
);

create index redemptions_by_lookup on redemptions (key_lookup);
create index redemptions_by_name on redemptions (name) where not is_deleted;
create index redemptions_by_change on redemptions (changed_position);

create table uses (
  redemption_id bigint not null,
  user_id bigint not null,
  use bigint not null,
  quota bigint not null,
  used_at bigint not null,
  primary key (redemption_id, user_id)
);

create index uses_in_order on uses (redemption_id, use desc);
