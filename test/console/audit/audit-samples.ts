import type { BatchResult, CallExplanation } from '#read-api/contract/calls.ts'
import type { Receipt } from '#read-api/contract/receipts.ts'

export const NOW = Math.floor(Date.now() / 1_000)
export const REQUEST_ID = '0191aa00-1b2c-7000-8000-0123456789ab'

const digest = (bytes: number, start: string) => ({ bytes, sha256: start.repeat(8) })

export const EXPLAINED_CALL: CallExplanation = {
  ...{ request_id: REQUEST_ID, user_id: 7, username: 'mia', token_id: 3 },
  ...{ token_name: 'production', status: 'settled', model: 'gpt-4o', group: 'vip' },
  requested: { model: 'gpt-4o-latest', group: 'default' },
  ...{ upstream_model: 'gpt-4o-2024-11-20', is_stream: true, formats: ['messages', 'chat'] },
  admission: {
    ...{ position: 8_120, revision: 412, created_at: NOW - 62, balance_after: 9_940_000 },
    ...{ held_after: 60_000, hold: 60_000, lease_until: NOW - 2, client_ip: '203.0.113.7' },
  },
  ...{ corrections: [], charge_in_force: 3_375 },
  raised_holds: [
    {
      ...{ position: 8_121, revision: 413, created_at: NOW - 61, balance_after: 9_930_000 },
      ...{ held_after: 70_000, added: 10_000, hold: 70_000 },
    },
  ],
  attempts: [
    {
      ...{ channel_id: 2, channel_name: 'OpenAI backup', status: 503, error: 'status' },
      ...{ latency_ms: 420, reason: 'first', after_error: null, is_account_rejected: false },
      evidence: {
        host: 'api.example.net',
        sent_at: (NOW - 62) * 1_000,
        sent: digest(1_204, 'a1b2c3d4'),
      },
    },
    {
      ...{ channel_id: 1, channel_name: 'OpenAI main', status: 200, error: null },
      ...{ latency_ms: 1_380, reason: 'another-channel', after_error: 'status-503' },
      is_account_rejected: false,
      evidence: {
        ...{ request_id: 'req_8c1f7e3a90b24d56', model: 'gpt-4o-2024-11-20' },
        fingerprint: { system_fingerprint: 'fp_44709d6fcb', service_tier: 'default' },
        ...{ sent_at: (NOW - 61) * 1_000, sent: digest(1_204, 'a1b2c3d4') },
        ...{ received: digest(18_330, '99ffee00'), host: 'api.openai.com' },
      },
    },
  ],
  end: {
    ...{ position: 8_125, revision: 414, created_at: NOW - 60, balance_after: 9_996_625 },
    ...{ held_after: 0, type: 'CallSettled', reason: 'done', error_code: null },
    ...{ status_code: null, hold: 70_000, charge: 3_375, released: 66_625 },
    ...{ duration_ms: 1_800, first_byte_ms: 380 },
  },
  usage: {
    ...{ source: 'upstream', unpaid: null, anomaly: null },
    normalised: { inputUncached: 400, cacheRead: 600, output: 500 },
    raw: '{"prompt_tokens":1000,"completion_tokens":500,"prompt_tokens_details":{"cached_tokens":600}}',
  },
  price: {
    list: 7,
    snapshot: { model: '1.25', completion: '4', cacheRead: '0.5', group: '1' },
    in_force: [
      {
        ...{ option: 'ModelRatio', name: 'gpt-4o', value: '1.25', position: 90 },
        ...{ set_at: NOW - 864_000, set_by: { id: 1, name: 'root' } },
      },
      {
        ...{ option: 'CompletionRatio', name: 'gpt-4o', value: '4', position: null },
        ...{ set_at: null, set_by: null },
      },
    ],
  },
  arithmetic: {
    lines: [
      { item: 'inputUncached', units: '400', price: '1.25', ratio: '1', amount: '500' },
      { item: 'cacheRead', units: '600', price: '0.625', ratio: '1', amount: '375' },
      { item: 'output', units: '500', price: '5', ratio: '1', amount: '2500' },
    ],
    ...{ sum: '3375', rounded: 3_375, charge: 3_375, is_exact: true },
  },
  ...{ cost: 2_700, cost_ratio: '0.8', batch: null, task: null },
  links: {
    receipts: `/api/audit/receipts/${REQUEST_ID}`,
    log: `/api/log/?request_id=${REQUEST_ID}`,
  },
}

const result = (line: number, patch: Partial<BatchResult> = {}): BatchResult => ({
  ...{ line, position: 8_300, charge: 1_225 + line, is_other_model: false },
  evidence: {
    ...{ request_id: `req_batch_0a1b2c3d4e5f_${line}`, model: 'gpt-4o-2024-11-20' },
    received: digest(1_840 + line, 'c0ffee42'),
  },
  usage: '{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500}',
  ...patch,
})

/** The call of a batch, of which more lines were billed than are listed. */
export const BATCH_CALL: CallExplanation = {
  ...{ ...EXPLAINED_CALL, is_stream: false },
  attempts: [
    {
      ...{ channel_id: 1, channel_name: 'OpenAI main', status: 200, error: null },
      ...{ latency_ms: 1_380, reason: 'first', after_error: null, is_account_rejected: false },
      evidence: {
        ...{ sent_at: (NOW - 61) * 1_000, host: 'api.openai.com', sent: digest(204, 'a1b2c3d4') },
        file: digest(5_242_880, 'f11ed00d'),
      },
    },
  ],
  batch: {
    ...{ id: 'batch_0191aa001b2c7000', lines: 240, billed_lines: 238 },
    results: [
      result(0),
      result(1, { is_other_model: true }),
      result(3, { evidence: null, usage: null }),
      ...Array.from({ length: 97 }, (_, index) => result(index + 4)),
    ],
  },
}

const receipt = (position: number, type: string, patch: Partial<Receipt>): Receipt => ({
  record: {
    ...{ position, stream: 'account-7', revision: 414, id: `event-${position}`, type, v: 1 },
    ...{ at: (NOW - 60) * 1_000, actor: 'user:7', cause: null, data: '{"charge":3375}' },
  },
  leaf_hash: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=',
  ...{ balance_after: 9_996_625, held_after: 0, is_pending: false, expected_at: null },
  inclusion: { leaf_index: position - 1, tree_size: 9_000, hashes: Array(13).fill('q83vEg==') },
  signed_checkpoint: 'tallygate.example\n9000\nq83vEjRWeJA=\n\n— tallygate.example AAAA\n',
  cosignatures: [{ witness: 'witness.example', signed_at: NOW - 50 }],
  is_final: true,
  ...patch,
})

export const RECEIPTS = {
  user_id: 7,
  items: [
    receipt(8_120, 'CallAdmitted', { balance_after: 9_940_000, held_after: 60_000 }),
    receipt(8_125, 'CallSettled', {
      ...{ is_pending: true, is_final: false, expected_at: NOW + 9, inclusion: null },
      ...{ signed_checkpoint: null, cosignatures: [] },
    }),
  ] satisfies Receipt[],
}

/** A user who may see the audit section, and no page for admins. */
export const AUDITOR_USER = {
  ...{ id: 5, username: 'ada', display_name: 'Ada', role: 5, status: 1, group: 'default' },
}
