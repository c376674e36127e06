create table orders (
  id bigint primary key,
  user_id bigint not null,
  trade_no text not null,
  provider text not null,
  method text not null,
  amount bigint not null,
  quota bigint not null,
  -- Hundredths of `currency`.
  cents bigint not null,
  currency text not null,
  code text not null default '',
  -- pending, paid; a refund changes no status.
  status text not null default 'pending',
  payment_id text not null default '',
  rebate_quota bigint not null default 0,
  inviter_id bigint,
  refunded_cents bigint not null default 0,
  refunded_quota bigint not null default 0,
  refunds bigint not null default 0,
  -- Unix seconds.
  created_at bigint not null,
  paid_at bigint
);

create index orders_of_user on orders (user_id, id desc);

create table refunds (
  order_id bigint not null,
  refund_no bigint not null,
  cents bigint not null,
  quota bigint not null,
  reason text not null,
  actor_id bigint not null,
  created_at bigint not null,
  primary key (order_id, refund_no)
);
