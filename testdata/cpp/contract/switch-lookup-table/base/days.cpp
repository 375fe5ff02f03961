int days(int month) {
    switch (month) {
        case 1: return 31;
        case 2: return 28;
        case 3: return 37;
        case 4: return 30;
        case 5: return 41;
        case 6: return 35;
        case 7: return 39;
        default: return 0;
    }
}

int weeks(int month) {
    switch (month) {
        case 1: return 4;
        case 2: return 7;
        case 3: return 5;
        case 4: return 9;
        case 5: return 6;
        case 6: return 8;
        case 7: return 3;
        default: return 0;
    }
}
