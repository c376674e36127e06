import { type ChangeEvent, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { saveFile } from '#console/ui/browser/save-file.ts'
import { showError } from '#console/ui/messages/toast.ts'
import { keyArguments } from './checkpoint-status-and-verifier-hint.tsx'

/**
 * Requests the shown receipts from the server once more, this time with a consistency proof. The
 * proof shows that the first `size` events of the history have not changed since an earlier receipt
 * was issued.
 */
export type ReadSince = (size: number) => Promise<unknown>

/**
 * Lets the user select the file of an earlier receipt. The component then downloads the current
 * receipts. The downloaded file also proves that the current receipts and the earlier receipt
 * belong to the same history. Without this proof, the offline verifier could not detect a site that
 * shows different histories to different users.
 */
export function ConsistencyProofDownload(props: {
  readSince: ReadSince
  id: string
  isWitnessed: boolean
}) {
  const { t } = useTranslation()
  const { readSince, id, isWitnessed } = props
  const hintId = useId()
  const [isBusy, setIsBusy] = useState(false)
  const compare = async ({ currentTarget: input }: ChangeEvent<HTMLInputElement>) => {
    const file = input.files?.[0]
    if (file === undefined) return
    setIsBusy(true)
    try {
      const size = treeSizeIn(await file.text())
      if (size === null) {
        showError(t('audit.receipt.notReceipt'))
        return
      }
      const text = `${JSON.stringify(await readSince(size), null, 2)}\n`
      saveFile(new Blob([text], { type: 'application/json' }), `receipt-${id}-since-${size}.json`)
    } catch (error) {
      showError(error)
    } finally {
      setIsBusy(false)
      // Without this reset, selecting the same file again would cause no event.
      input.value = ''
    }
  }
  return (
    <div className="tg-audit-verifier">
      <p id={hintId}>{t('audit.receipt.compare')}</p>
      <input
        type="file"
        accept=".json,application/json"
        className="tg-input tg-audit-earlier"
        aria-label={t('audit.receipt.earlier')}
        aria-describedby={hintId}
        disabled={isBusy}
        onChange={(event) => void compare(event)}
      />
      <p>
        <code>node verify.mjs --receipt EARLIER --receipt LATER {keyArguments(isWitnessed)}</code>
      </p>
    </div>
  )
}

/**
 * Returns the largest tree size in a file of receipts, or null if there is none. A tree size is the
 * number of events in the Merkle tree to which a receipt belongs.
 */
function treeSizeIn(text: string): number | null {
  const items = parsed(text)?.items ?? []
  const sizes = items.map((item) => item.inclusion?.tree_size).filter(Number.isSafeInteger)
  return sizes.length === 0 ? null : Math.max(...(sizes as number[]))
}

type ReceiptFile = {
  readonly items?: readonly { readonly inclusion?: { readonly tree_size?: number } | null }[]
}

function parsed(text: string): ReceiptFile | null {
  try {
    const file = JSON.parse(text) as ReceiptFile | null
    return Array.isArray(file?.items) ? file : null
  } catch {
    return null
  }
}
