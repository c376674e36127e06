create table notifications (
  user_id bigint primary key,
  means text not null default 'email',
  threshold bigint,
  mail_to text not null default '',
  webhook_url text not null default '',
  webhook_secret_ref text,
  warned_at bigint not null default 0
);
