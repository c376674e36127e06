import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { ReceiptList, refetchWhilePending, SaveReceipts } from '../elements/receipt-list.tsx'

/**
 * Shows the receipts for the admission and the end of a call, and for later corrections of its
 * charge. A receipt proves that an event is part of the history whose hash the site has signed.
 */
export function CallReceipts({ requestId }: { requestId: string }) {
  const { t } = useTranslation()
  const query = useQuery({
    ...apiQuery('GET /api/audit/receipts/:requestId', { params: { requestId } }),
    refetchInterval: refetchWhilePending,
  })
  return (
    <Panel
      title={t('audit.receipt.title')}
      lead={t('audit.receipt.lead')}
      actions={<SaveReceipts receipts={query.data} id={requestId} />}
    >
      <QueryView query={query} height={160}>
        {(receipts) => (
          <>
            {receipts.unproven_corrections > 0 && (
              <Alert tone="bad">
                {t('audit.call.unprovenCorrections', { count: receipts.unproven_corrections })}
              </Alert>
            )}
            <ReceiptList receipts={receipts} />
          </>
        )}
      </QueryView>
    </Panel>
  )
}
