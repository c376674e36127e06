create table orders (
  id bigint primary key,
  user_id bigint not null,
  trade_no text not null,
  provider text not null,
  method text not null,
  amount bigint not null,
  quota bigint not null,
  -- The price in hundredths of `currency`.
  cents bigint not null,
  currency text not null,
  code text not null default '',
  -- The status: `pending` or `paid`. A refund does not change the status.
  status text not null default 'pending',
  payment_id text not null default '',
  rebate_quota bigint not null default 0,
  inviter_id bigint,
  refunded_cents bigint not null default 0,
  refunded_quota bigint not null default 0,
  refunds bigint not null default 0,
  -- The times are in Unix seconds.
  created_at bigint not null,
  paid_at bigint
);

create index orders_of_user on orders (user_id, id desc);
create index orders_by_payment on orders (payment_id) where payment_id <> '';

create table refunds (
  order_id bigint not null,
  refund_no bigint not null,
  cents bigint not null,
  quota bigint not null,
  reason text not null,
  actor_id bigint not null,
  -- The cause of the refund: an admin (`admin`) or a report of the provider (`refund` or
  -- `dispute`). `source_id` is the provider's id of the refund or dispute.
  source text not null default 'admin',
  source_id text not null default '',
  created_at bigint not null,
  primary key (order_id, refund_no)
);

create table restorations (
  order_id bigint not null,
  restore_no bigint not null,
  cents bigint not null,
  quota bigint not null,
  source text not null,
  source_id text not null,
  created_at bigint not null,
  primary key (order_id, restore_no)
);

-- All reports of the provider about refunds and disputes, in the order of their arrival.
create table reports (
  order_id bigint not null,
  position bigint not null,
  -- The kind of report: `refund` or `dispute`.
  kind text not null,
  report_id text not null,
  cents bigint not null,
  status text not null,
  reason text not null,
  due_by bigint,
  is_withdrawn boolean not null default false,
  is_reinstated boolean not null default false,
  created_at bigint not null,
  primary key (order_id, position)
);
