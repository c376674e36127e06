import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { loadChineseFonts } from '#console/theme/chinese-fonts.ts'

const WEIGHTS = [400, 600]

/**
 * Fetches the glyphs of what is said without a network while there is one: the Chinese font comes
 * in slices, each when its first character is drawn, and the next may be the one that can't come.
 */
export function useOfflineGlyphs(): void {
  const { t, i18n } = useTranslation()
  const { language } = i18n
  useEffect(() => {
    if (!language.startsWith('zh')) return
    const text = [
      t('ui.lost'),
      t('ui.lostBody'),
      t('ui.retry'),
      t('request.network'),
      t('request.health.offline'),
      t('request.health.unreachable'),
      t('request.health.down'),
    ].join('')
    loadChineseFonts()
      .then(() => {
        const fonts = WEIGHTS.map((weight) => `${weight} 14px 'Noto Sans SC'`)
        return Promise.all(fonts.map((font) => document.fonts.load(font, text)))
      })
      .catch(() => {})
  }, [t, language])
}
