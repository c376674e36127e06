import regular from '@fontsource/noto-sans-sc/400.css?url'
import semibold from '@fontsource/noto-sans-sc/600.css?url'

/**
 * The URLs of the style sheets for the Chinese fonts. These style sheets are loaded separately,
 * because they are larger than all other styles together.
 */
export const CHINESE_FONTS: readonly string[] = [regular, semibold]

let loading: Promise<unknown> | undefined

export function loadChineseFonts(): Promise<unknown> {
  loading ??= Promise.all(CHINESE_FONTS.map(addStyles))
  return loading
}

const addStyles = (href: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = href
    link.onload = () => resolve()
    link.onerror = () => reject(new Error(`${href} could not be loaded`))
    document.head.append(link)
  })
