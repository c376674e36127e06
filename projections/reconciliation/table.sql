-- One row for each attempt of an ended call for which the provider returned an id.
create table requests (
  channel_id bigint not null,
  position bigint not null,
  attempt smallint not null,
  created_at bigint not null,
  -- The id in the headers of the answer, and the id in the body of the answer. One of them may be
  -- null.
  request_id text collate "C",
  answer_id text collate "C",
  call text not null,
  user_id bigint not null,
  model text not null,
  tokens bigint not null,
  -- The quota that the provider should charge, or null if it is not known.
  cost bigint,
  charged bigint not null,
  -- True for the attempt that served a charged call. Other attempts have no tokens and charges.
  is_charged boolean not null,
  primary key (channel_id, position, attempt, created_at)
) partition by range (created_at);

create index requests_by_id on requests (request_id, channel_id) where request_id is not null;
create index requests_by_answer on requests (answer_id, channel_id) where answer_id is not null;

-- The lines of invoices that contain the provider's id of a request.
create table lines (
  invoice_id text collate "C" not null,
  -- The number of the event that recorded the line. The lines of a part are removed together.
  part integer not null,
  -- The number of the row in the file.
  line integer not null,
  day date not null,
  model text collate "C" not null,
  request_id text collate "C" not null,
  tokens bigint not null,
  -- The amount in the units of the invoice: an integer with the invoice's decimals.
  amount bigint not null,
  is_duplicate boolean not null,
  primary key (invoice_id, part, line)
);

create index lines_by_id on lines (invoice_id, request_id);
