// Generated from packages/norms by `npm run rules`: change it there.
import type { Norm } from './norm.js';

export type NormName = 'pss10' | 'digit_symbol' | 'delayed_recall' | 'animal_fluency' | 'vigilance_speed';

export const TABLES: Readonly<Record<NormName, Norm>> = {
 "pss10": {
  "title": "Perceived Stress Scale, ten questions",
  "score": "stress",
  "unit": "the sum of ten answers of 0 to 4, those to questions 4, 5, 7 and 8 turned round",
  "least": 0,
  "most": 40,
  "isWhole": true,
  "source": "Cohen S, Janicki-Deverts D. Who's stressed? J Appl Soc Psychol 2012;42:1320-1334 (survey of 2009; its table as read at digitalfirst.bfwpub.com/healthpsych_cyh, chapter 4)",
  "population": "adults in the United States, 2009",
  "n": 2000,
  "mean": 15.84,
  "sexes": {
   "M": {
    "n": 968,
    "mean": 15.52
   },
   "F": {
    "n": 1032,
    "mean": 16.14
   }
  },
  "ages": [
   {
    "from": 18,
    "to": 24,
    "n": 223,
    "mean": 16.78,
    "sd": 6.86
   },
   {
    "from": 25,
    "to": 34,
    "n": 433,
    "mean": 17.46,
    "sd": 7.31
   },
   {
    "from": 35,
    "to": 44,
    "n": 331,
    "mean": 16.38,
    "sd": 7.04
   },
   {
    "from": 45,
    "to": 54,
    "n": 419,
    "mean": 16.94,
    "sd": 7.83
   },
   {
    "from": 55,
    "to": 64,
    "n": 372,
    "mean": 14.5,
    "sd": 7.2
   },
   {
    "from": 65,
    "to": 130,
    "n": 222,
    "mean": 11.09,
    "sd": 6.77
   }
  ]
 },
 "digit_symbol": {
  "title": "Digit symbol substitution (Wechsler, third edition), 120 seconds",
  "score": "attention",
  "unit": "symbols that are right",
  "most": 133,
  "least": 0,
  "isWhole": true,
  "source": "US National Health and Nutrition Examination Survey 2011-2014, public domain; computed by `npm run norms` from two thirds of the people, by examination weight",
  "population": "adults of 60 and over in the United States, 2011 to 2014; 80 and over are one group",
  "n": 939,
  "mean": 51.353,
  "sexes": {
   "M": {
    "n": 467,
    "mean": 49.454
   },
   "F": {
    "n": 472,
    "mean": 52.952
   }
  },
  "ages": [
   {
    "from": 60,
    "to": 64,
    "n": 309,
    "mean": 59.552,
    "sd": 15.374
   },
   {
    "from": 65,
    "to": 69,
    "n": 194,
    "mean": 54.29,
    "sd": 15.374
   },
   {
    "from": 70,
    "to": 74,
    "n": 174,
    "mean": 48.442,
    "sd": 15.374
   },
   {
    "from": 75,
    "to": 79,
    "n": 111,
    "mean": 42.653,
    "sd": 15.374
   },
   {
    "from": 80,
    "to": 130,
    "n": 151,
    "mean": 39.196,
    "sd": 15.374
   }
  ]
 },
 "delayed_recall": {
  "title": "Delayed recall of the CERAD word list",
  "score": "memory",
  "unit": "words of ten",
  "most": 10,
  "least": 0,
  "isWhole": true,
  "source": "US National Health and Nutrition Examination Survey 2011-2014, public domain; computed by `npm run norms` from two thirds of the people, by examination weight",
  "population": "adults of 60 and over in the United States, 2011 to 2014; 80 and over are one group",
  "n": 964,
  "mean": 5.689,
  "sexes": {
   "M": {
    "n": 477,
    "mean": 5.258
   },
   "F": {
    "n": 487,
    "mean": 6.05
   }
  },
  "ages": [
   {
    "from": 60,
    "to": 64,
    "n": 307,
    "mean": 6.693,
    "sd": 2.168
   },
   {
    "from": 65,
    "to": 69,
    "n": 194,
    "mean": 6.064,
    "sd": 2.168
   },
   {
    "from": 70,
    "to": 74,
    "n": 181,
    "mean": 5.36,
    "sd": 2.168
   },
   {
    "from": 75,
    "to": 79,
    "n": 116,
    "mean": 4.667,
    "sd": 2.168
   },
   {
    "from": 80,
    "to": 130,
    "n": 166,
    "mean": 4.255,
    "sd": 2.168
   }
  ]
 },
 "animal_fluency": {
  "title": "Animal fluency, 60 seconds",
  "score": "reasoning",
  "unit": "different animals named",
  "most": 100,
  "least": 0,
  "isWhole": true,
  "source": "US National Health and Nutrition Examination Survey 2011-2014, public domain; computed by `npm run norms` from two thirds of the people, by examination weight",
  "population": "adults of 60 and over in the United States, 2011 to 2014; 80 and over are one group",
  "n": 956,
  "mean": 17.693,
  "sexes": {
   "M": {
    "n": 473,
    "mean": 18.036
   },
   "F": {
    "n": 483,
    "mean": 17.405
   }
  },
  "ages": [
   {
    "from": 60,
    "to": 64,
    "n": 306,
    "mean": 20.12,
    "sd": 5.491
   },
   {
    "from": 65,
    "to": 69,
    "n": 193,
    "mean": 18.602,
    "sd": 5.491
   },
   {
    "from": 70,
    "to": 74,
    "n": 179,
    "mean": 16.888,
    "sd": 5.491
   },
   {
    "from": 75,
    "to": 79,
    "n": 113,
    "mean": 15.211,
    "sd": 5.491
   },
   {
    "from": 80,
    "to": 130,
    "n": 165,
    "mean": 14.207,
    "sd": 5.491
   }
  ]
 },
 "vigilance_speed": {
  "title": "Psychomotor vigilance, mean speed",
  "score": "attention",
  "unit": "reactions a second: the mean of 1000 / milliseconds",
  "least": 1,
  "most": 8,
  "isWhole": false,
  "source": "Stockholm Sleepy Brain Study 1, OpenNeuro ds000201, CC0; computed by `npm run norms` from two thirds of the people, the evening after a full night, five minutes",
  "population": "volunteers in Stockholm of 20 to 30 and of 65 to 75, few",
  "n": 62,
  "mean": 3.973,
  "sexes": {
   "M": {
    "n": 29,
    "mean": 4.097
   },
   "F": {
    "n": 33,
    "mean": 3.864
   }
  },
  "ages": [
   {
    "from": 20,
    "to": 30,
    "n": 36,
    "mean": 4.009,
    "sd": 0.444
   },
   {
    "from": 65,
    "to": 75,
    "n": 26,
    "mean": 3.922,
    "sd": 0.352
   }
  ]
 }
};
