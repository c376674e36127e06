create table credentials (
  user_id bigint primary key,
  token_hash text unique,
  token_auth_version bigint,
  token_issued_at bigint,
  token_expires_at bigint,
  totp_since bigint,
  recovery_codes bigint not null default 0
);

create table passkeys (
  user_id bigint,
  passkey_id bigint,
  name text not null,
  created_at bigint not null,
  used_at bigint,
  primary key (user_id, passkey_id)
);
