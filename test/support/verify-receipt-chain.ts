import {
  type ConsistencyProof,
  compareReceipts,
  compareRevisions,
  type Receipt,
  type ReceiptFinding,
  type ReceiptKeys,
  verifyReceipt,
} from '#infra/audit-program/verify-receipts.ts'

/**
 * Verifies receipts of consecutive revisions of one account. Each revision must be present and in
 * the log, and each balance must follow from the balance before. An event that the site left out is
 * therefore found, by its missing revision or by the balance after it. The test
 * `receipt-files.test.ts` covers the product's own combination of these checks.
 */
export function verifyChain(
  receipts: readonly Receipt[],
  keys: ReceiptKeys,
  proofs: readonly ConsistencyProof[] = [],
): readonly ReceiptFinding[] {
  const findings = receipts.flatMap((receipt) => verifyReceipt(receipt, keys).findings)
  if (findings.some(({ fault }) => fault === 'form')) return findings
  return [...findings, ...compareRevisions(receipts), ...compareReceipts(receipts, [], proofs)]
}
