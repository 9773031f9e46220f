// Headless Chromium, the one that is installed.

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

export function launch() {
  const executablePath = PLACES.find((place) => place && existsSync(place));
  if (!executablePath) throw new Error('there is no Chromium: install it, or set CHROMIUM to its path');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--disable-quic',
    ],
  });
}

/** Whatever a page complains about; a test wants it empty. */
export function complaints(page) {
  const list = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) list.push(message.text());
  });
  page.on('pageerror', (error) => list.push(String(error)));
  return list;
}

/** Milliseconds that a page may take for a step: other tests may keep all cores busy. */
export const LONG = 120_000;

/**
 * Waits until a function is true in a page. (Playwright's own waiting evaluates
 * text, which the page's policy forbids.)
 */
export async function until(page, condition, argument, milliseconds = LONG) {
  const end = Date.now() + milliseconds;
  while (!(await page.evaluate(condition, argument))) {
    if (Date.now() > end) throw new Error(`${condition} (${argument}) is not so after ${milliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
