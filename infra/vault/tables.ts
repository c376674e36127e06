/** Schema `vault`: outside of events and read models, and never in a dump that leaves the house. */
export const VAULT_TABLES = `
  create table if not exists vault.wrapping_key (
    id int primary key check (id = 1),
    kid text not null
  );
  create table if not exists vault.secrets (
    ref text primary key,
    purpose text not null,
    owner text not null,
    kid text not null,
    wrapped_key bytea not null,
    sealed bytea not null,
    made_at timestamptz not null default now()
  );
  create table if not exists vault.user_keys (
    user_id int8 primary key,
    kid text not null,
    wrapped_key bytea not null
  );
`
