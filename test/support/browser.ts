import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'
import { extract } from 'tar-fs'

const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache')

/**
 * Starts the Chromium of a registry package, which needs no installation. The caller closes the
 * browser.
 */
export async function launchBrowser(): Promise<Browser> {
  const dir = await unpackedChromium()
  return chromium.launch({
    executablePath: join(dir, 'chromium'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(dir, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(dir, 'fonts'),
    },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--force-color-profile=srgb',
    ],
  })
}

let shared: Promise<Browser> | null = null

/** Returns the browser of this worker, which its test files use one after the other. */
export async function sharedBrowser(): Promise<Browser> {
  const current = await shared
  if (current?.isConnected() !== true) shared = launchBrowser()
  return shared as Promise<Browser>
}

/**
 * Unpacks this version's Chromium into a temporary folder and renames the folder when it is
 * complete.
 */
async function unpackedChromium(): Promise<string> {
  const packageDir = dirname(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')))
  const { version } = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'))
  const dir = join(CACHE, `chromium-${version}`)
  if (existsSync(join(dir, 'chromium'))) return dir
  mkdirSync(CACHE, { recursive: true })
  const part = mkdtempSync(join(CACHE, 'chromium-part-'))
  const unpacked = (file: string) =>
    [createReadStream(join(packageDir, 'bin', file)), createBrotliDecompress()] as const
  await Promise.all([
    pipeline(
      ...unpacked('chromium.br'),
      createWriteStream(join(part, 'chromium'), { mode: 0o755 }),
    ),
    pipeline(...unpacked('al2023.tar.br'), extract(join(part, 'al2023'))),
    pipeline(...unpacked('fonts.tar.br'), extract(join(part, 'fonts'))),
    pipeline(...unpacked('swiftshader.tar.br'), extract(part)),
  ])
  writeFileSync(join(part, 'fonts', 'fonts.conf'), fontsConfig(dir))
  try {
    renameSync(part, dir)
  } catch {
    // Another process was faster, and its copy is complete.
    rmSync(part, { recursive: true, force: true })
  }
  return dir
}

const fontsConfig = (dir: string): string =>
  [
    '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>',
    `<dir>${dir}/fonts/fonts</dir><dir>/usr/share/fonts</dir>`,
    `<cachedir>${dir}/fonts-cache</cachedir></fontconfig>`,
  ].join('')
