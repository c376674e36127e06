import type { TFunction } from 'i18next'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { methodAndPath, type RouteName } from '#console/api/client.ts'
import { type ApiRequest, type QueryValue, requestFile } from '#console/api/request.ts'
import { saveFile } from '#console/ui/browser/save-file.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { showError } from '#console/ui/messages/toast.ts'

export type FileRequest = {
  readonly route: RouteName
  readonly params?: Readonly<Record<string, QueryValue>>
  readonly query?: ApiRequest['query']
  readonly name: string
}

const PROGRESS_INTERVAL_MS = 200

/**
 * Returns functions that start and cancel the download of a file, which the server sends as a
 * stream. `bytes` is the number of bytes received so far, or null while no download is running.
 */
export function useFileDownload() {
  const [bytes, setBytes] = useState<number | null>(null)
  const running = useRef<AbortController | null>(null)
  const run = async (file: FileRequest, signal: AbortSignal): Promise<void> => {
    const address = methodAndPath(file.route, file.params)
    const stream = await requestFile({ ...address, query: file.query ?? {}, signal })
    saveFile(await new Response(stream.pipeThrough(countBytes(setBytes))).blob(), file.name)
  }
  return {
    bytes,
    cancel: () => running.current?.abort(),
    start: (file: FileRequest) => {
      const controller = new AbortController()
      running.current = controller
      setBytes(0)
      run(file, controller.signal)
        .catch((error: unknown) => {
          if (!controller.signal.aborted) showError(error)
        })
        .finally(() => setBytes(null))
    },
  }
}

function countBytes(onBytes: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  let count = 0
  let reportedAt = performance.now()
  return new TransformStream({
    transform: (piece, controller) => {
      count += piece.length
      controller.enqueue(piece)
      if (performance.now() - reportedAt < PROGRESS_INTERVAL_MS) return
      reportedAt = performance.now()
      onBytes(count)
    },
  })
}

/** Returns the items of a menu that exports the rows of a list as CSV or NDJSON. */
export const exportItems = (t: TFunction, start: (format: 'csv' | 'ndjson') => void) =>
  (['csv', 'ndjson'] as const).map((format) => ({
    title: t(`usageLog.exportAs.${format}`),
    perform: () => start(format),
  }))

/**
 * A button that downloads the rows of a list as CSV. The download can be canceled while it runs.
 */
export function CsvDownload({ file }: { file: FileRequest }) {
  const { t } = useTranslation()
  const download = useFileDownload()
  return download.bytes === null ? (
    <Button
      icon="download"
      label={t('usageLog.exportAs.csv')}
      onClick={() => download.start(file)}
    />
  ) : (
    <Button icon="close" label={t('usageLog.exportCancel')} onClick={download.cancel} />
  )
}
